/**
 * The packages and types of `.proto` texts as a tree, and what a written name stands for in it.
 *
 * @module
 */

/** A package, or a declaration in one. */
export interface Scope {
  readonly name: string;
  readonly kind: "package" | "message" | "enum" | "service";
  /** Null for the root, and for a declaration whose package is not known yet. */
  parent: Scope | null;
  children: Map<string, Scope> | null;
  /** The file of its declaration, and where its braces are there; "" and 0 for a package. */
  readonly path: string;
  readonly body: number;
}

/** Creates a scope without a parent. */
export function createScope(name: string, kind: Scope["kind"], path = "", body = 0): Scope {
  return { name, kind, parent: null, children: null, path, body };
}

/** Puts a scope into another one; false where the name is taken. */
export function addScope(parent: Scope, child: Scope): boolean {
  parent.children ??= new Map();
  if (parent.children.has(child.name)) return false;
  parent.children.set(child.name, child);
  child.parent = parent;
  return true;
}

/** The scope of a package, with those around it; null where a type has the name of one of them. */
export function openPackage(root: Scope, name: string): Scope | null {
  let scope = root;
  for (const part of name === "" ? [] : name.split(".")) {
    const known = scope.children?.get(part);
    if (known !== undefined && known.kind !== "package") return null;
    const next = known ?? createScope(part, "package");
    if (known === undefined) addScope(scope, next);
    scope = next;
  }
  return scope;
}

/** The full name of a scope. */
export function fullNameOf(scope: Scope): string {
  const parts: string[] = [];
  for (let at: Scope | null = scope; at !== null; at = at.parent) if (at.name !== "") parts.push(at.name);
  return parts.reverse().join(".");
}

/** The scope that a name leads to from another one. */
export function findScope(from: Scope, name: string): Scope | undefined {
  let scope: Scope | undefined = from;
  for (const part of name.split(".")) scope = scope?.children?.get(part);
  return scope;
}

/**
 * The type that a written name stands for, by the rule of `protoc`: the innermost scope that knows the first part of the name
 * decides, and of a name without dots only types count.
 *
 * @param written The name as the text has it
 * @param from The scope in which it stands
 * @param sees Whether the file of the name sees a scope
 */
export function resolveType(
  written: string,
  from: Scope,
  root: Scope,
  sees: (scope: Scope) => boolean,
): Scope | undefined {
  const typeOf = (scope: Scope | undefined): Scope | undefined =>
    scope !== undefined && isType(scope) && sees(scope) ? scope : undefined;
  if (written.startsWith(".")) return typeOf(findScope(root, written.slice(1)));
  const dot = written.indexOf(".");
  const first = dot < 0 ? written : written.slice(0, dot);
  for (let at: Scope | null = from; at !== null; at = at.parent) {
    const found = at.children?.get(first);
    if (found === undefined || !sees(found)) continue;
    if (dot >= 0) return typeOf(findScope(found, written.slice(dot + 1)));
    if (isType(found)) return found;
  }
  return undefined;
}

function isType({ kind }: Scope): boolean {
  return kind === "message" || kind === "enum";
}
