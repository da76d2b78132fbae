/**
 * The judged queries on the documentation, and how well a search answers them.
 *
 * @module
 */

/** A query with the sections that answer it. */
export interface JudgedQuery {
  readonly query: string;
  /** Grade by `doc_id#heading`: 3 answers, 2 helps much, 1 helps. */
  readonly relevant: Readonly<Record<string, number>>;
}

/** Where the queries are kept. */
const QUERIES = new URL("../vectors/docs/queries.json", import.meta.url);

/** Reads the queries. */
export async function readQueries(): Promise<readonly JudgedQuery[]> {
  return (JSON.parse(await Deno.readTextFile(QUERIES)) as { readonly queries: readonly JudgedQuery[] }).queries;
}

/**
 * nDCG@3 of one answer (Järvelin and Kekäläinen 2002, gain `2^grade - 1`): 1 where no other three would be better.
 *
 * @param found The sections that were found, best first, as `doc_id#heading`; one that stands twice counts once
 */
export function gainOf({ relevant }: JudgedQuery, found: readonly string[]): number {
  const grades = [...new Set(found)].slice(0, 3).map((section) => relevant[section] ?? 0);
  const ideal = Object.values(relevant).sort((a, b) => b - a).slice(0, 3);
  return discounted(grades) / discounted(ideal);
}

function discounted(grades: readonly number[]): number {
  return grades.reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0);
}

/** The mean of nDCG@3 over all queries. */
export function meanGain(
  queries: readonly JudgedQuery[],
  find: (query: string) => readonly string[],
): number {
  return queries.reduce((sum, judged) => sum + gainOf(judged, find(judged.query)), 0) / queries.length;
}
