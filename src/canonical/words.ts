/** One of the words of a text, with one space between two. */
export type WordOf<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | WordOf<Rest> : Text;

/** A closed list of names, written in lines of words with one space between two. */
export function words<const Lines extends readonly string[]>(...lines: Lines): readonly WordOf<Lines[number]>[] {
  return lines.flatMap((line) => line.split(" ") as WordOf<Lines[number]>[]);
}
