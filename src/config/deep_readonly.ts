/**
 * Data that no part of the service changes.
 *
 * @module
 */

/** A type whose members are read-only at every depth. */
export type DeepReadonly<Value> = Value extends readonly (infer Item)[] ? readonly DeepReadonly<Item>[]
  : Value extends object ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
  : Value;
