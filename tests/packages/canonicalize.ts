/**
 * A writer of RFC 8785 by other people, which the tests hold beside gate's own.
 *
 * @module
 */

export { default } from "npm:canonicalize@5.1.0";
