/** Numbers with their nouns. */

/** A number with its noun: `1 item`, `2 items`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
