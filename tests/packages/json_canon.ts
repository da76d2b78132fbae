/**
 * A second writer of RFC 8785 by other people, which the tests hold beside gate's own.
 *
 * @module
 */

export { default } from "npm:json-canon@1.0.1";
