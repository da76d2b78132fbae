/**
 * Ajv, a validator of JSON Schema that the tests hold beside gate's own. Its packages are those of the tests alone.
 *
 * @module
 */

export { Ajv } from "npm:ajv@8.20.0/dist/ajv.js";
export { Ajv2020, type ValidateFunction } from "npm:ajv@8.20.0/dist/2020.js";
