/**
 * The names of built-in providers. They are here alone, so that a page in a browser knows them without the settings.
 */

/** The names that are reserved for built-in providers. */
export const BUILTIN_PROVIDER_NAMES = ["time", "calendar", "env", "json", "http", "rest"] as const;

/** One of {@link BUILTIN_PROVIDER_NAMES}. */
export type BuiltinProviderName = typeof BUILTIN_PROVIDER_NAMES[number];

/** Whether a name is that of a built-in provider. */
export function isBuiltinProviderName(value: unknown): value is BuiltinProviderName {
  return BUILTIN_PROVIDER_NAMES.some((name) => name === value);
}
