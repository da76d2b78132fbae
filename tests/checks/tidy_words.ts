/**
 * Words that do not belong in the tree or its history: the project speaks of itself, not of how, where or by whom it
 * was written.
 *
 * Most of these words are kept as digests, so that the check may look at itself: a list of them in plain text would be
 * the one place in the tree where they stand.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { lineAt, type SourceFile, type Violation } from "./source.ts";

/** A word, or words in a row, that a rule refuses: where it stands, and why it is refused. */
export interface FoundWord {
  readonly word: string;
  readonly line: number;
  readonly reason: string;
}

/** Digests of what is refused, as `digestsOf()` gives them, each with the reason. */
export type DigestTable = ReadonlyMap<string, string>;

interface Finding {
  readonly word: string;
  readonly offset: number;
  readonly reason: string;
}

const AUTHORSHIP = "it speaks of how the project was written";
const MACHINE = "it is a place on somebody's machine";
const REGISTRY = "packages are named, not the hosts that serve them";
const LATER = "work that is left belongs in an issue";

/** What may be said in plain text. The brackets keep the marks of unfinished work from being found here. */
const PLAIN_RULES: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  { pattern: /\b(?:co-authored|signed-off)-by\b/gi, reason: AUTHORSHIP },
  { pattern: /\b(?:a|the) (?:later|next|future) (?:issue|task)\b/gi, reason: LATER },
  { pattern: /\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b/g, reason: LATER },
];

/** What is refused, by reason. Each row also holds something made up, by which a test sees that the row is looked at. */
export const DIGESTS: DigestTable = tableOf({
  [AUTHORSHIP]: `
    004f6503a77a7dfc 03530e9b47bae09a 047370695586c038 06592a9b77a82c16 0677069fdf937bd1 07ab4c1f3cb08dcd
    0808abe28aa7d867 08696f9f5533776f 08d8bec70df5aaa2 0acffd16b296eeaa 0b7350f51f6d95e9 0bd47ce4697b60ac
    0c6a9985893b9e49 0c80c8884f81f24d 0d656079c0d93757 0f76a8e2ccdacea6 0fb21aecac7b553a 12876f7c0660420d
    12f9aeb81ecefc1a 13e3fba09f51891a 15383931e75d38af 15a650bc5d91feeb 1655c98d0af594ad 1843be8641258db1
    1859449d68c51b9b 18b29dec5d32f9b1 1aa812533968654b 1c8cfe2dbf074862 1f8c29b7e3efb0dd 1fa8302b5289667f
    23aae2b339c07f24 258775ed6cd61111 275f66b976b96b12 28079ae08979cc5a 29fb211151e120e4 2b70e78f5f865727
    2cdbba95be92a4b6 2d333f8f9bda4688 2e5e1ac5587cc05e 2e6e861c79ffa5eb 2f9637aa1fd3dd43 30bea04fb8c932e6
    362fdf156539ce45 385783c720fb9382 3893f61419a63aac 38b53fc517c70c21 38ec45c274694155 39ef2f9fc141986b
    3a5baed0ab890471 3de0a3b68a0f0957 3ea125d0bff386e6 43513b5d4e766fbe 43868e0be3fce413 457b7fca80ceec29
    4839c52c7fd310d8 48de7c9dc7b0eded 4a58b90b8833840e 4a72ed02aa64b2af 4b6e0d103807842a 4b70183339bc3e6d
    4e04c187406cb476 4e383de8769c1cb6 5029c03f3f0c4c9c 53de63029d17ff6d 55df163d397020a3 55f5f804625da723
    57de4cf40144bdf7 585b9cd189814010 5876d5dd5b8ae30c 5b30b26be4611d42 5bdc6e74beca303f 5cad629f4ec98de9
    5e80d698a870975f 5f843fe20c792d03 60965168ce762e94 628d0244af6b28ec 638b0d171f7a6386 644efa71426c29fe
    679bdef258a14db6 68e20e120c489f47 6afd7745ef999bfd 6e5ce6afa65bc328 6f23d18048a7625f 7086a5e04b87f69a
    70c389a4174edcc1 725621abbe05a8de 7276e09b4466cece 74170f035134d81b 784d017bbf415db5 78fe37c342385e4f
    7d3194f79e645c42 7e250ee9c2ff4a4f 7f0ef15cfcf739b6 7fce338a3f360cbd 80861608800cfb0d 82dcba1f20098f4f
    84243a5046c23059 868b6d2ac0d81f76 87ccbb401d2c6fe5 884707be79ae2dbe 8912810f452bad43 8d1547de3c96ecc9
    90fa55ce32f63413 9372a5b8bd91f577 93eb65307e41881d 94a168d2da574b00 9603bfd51d4755af 9760d607e65eafcf
    97d241a23a8fa1f7 993d6112fd7abb79 9af67fdc84cbd3ac 9badff0510668316 9c44a6f18f757008 9d29561a03576572
    9effcc0ef837175e 9f3940db230859ea a1577f10ce8325ab a3bafba8a7b028d8 a56638eb927d568b a8493a746842dccb
    a9b39e681ce41143 ae3abd069370fa7b aecdc59e545325e9 b278980740b553c9 b405683d0bb5b3dc b606008eb73e72ae
    b98d4385c7730eaf ba36e9e374c3ed51 bbf842f2fb20fd13 c06176bc2a3ed0f5 c1adfd93a92edb5c c1e887d8540de108
    c263d8c41112cc3c c320009aab08f00f c34f1ebcef17f187 c403f76eef4774c2 c5b23a560550f7a4 c70864ce543badf5
    c70eca6b0f88f44d c713976f1081f705 c793113d2ce94208 c7cf1ab24a84d996 c857d09db23e6822 cdcbb68a3444fdd6
    cee299639c9d34b2 d22cd102a9866c1f d298391b07433318 d47964e026643905 d5d99d68b65c58da d6a04faf3ef17303
    d735853f93807b04 d8e7baff327b6314 d93d642749fe3448 da4b6f14cdf8e14e db659330e2177b8e dbcac4e96868c484
    de0c48d09f5e09c0 dfe68d2dc72f4d81 e0bd2fb9ec18ae49 e3f27b59e163ed12 e7961d48c2cf0a77 e9acff1bccde0d17
    ea198c98bbb82c6d ec3f4a4cd18a80ef eeeda0b7df125554 ef57d98d468866eb f249e7ca919a2c78 f2796584a323f168
    f340e9c6e04b448d f5344f01da53b573 f6c41d4dbda76894 fa88b3556e2c608c fbfb0733803991c1 fe1e5eb7c819992f
    fe82cb85bfa90812
  `,
  [LATER]: `
    06ff0a6887cf9b29 366dde1395d6fef2 4171ace1d6496e98 5b6ef04609a845ad 6583dcd6056fd32a 6962f5eb1f460111
    6e5ce6afa65bc328 9170cce024b59a56 a5d622da09e92eb9 be2de90c0d9e0f05 bf0176f4af8a5c60 c66befab1f1f2bbc
    cf3211a7c1c864a7 e38f490a1869223d f9c4ba78016c51f2
  `,
  [MACHINE]: `
    0fe68e7a8a473efa 1a4f7fb7815c9e0f 216d3696f4fb08b1 3b122b9d4638c4dd 3c51c993ffd35933 5aac6b0181dad7e8
    77b9c7311b88234a d54e8a4e61b2eacc db337b639d3ebc12
  `,
  [REGISTRY]: `
    08264af62ca069e9 165d5ad2c213f9de 1e7fcc881394575c 2d6785574fad1bb8 3b66096d0663f0f2 40788017a9cb370f
    5ffb828008c1b198 6416095eced78d49 67bb22c276856e84 6946f6bb332a302f 9aa01a122c81349e a3ac4a1121c090f1
    a3d70e762b7af1b4 a5aa6f6d5f474168 a97961335c6bef06 ce76c56d360a978a d15ad0580a4bc654
  `,
});

/** Files whose text the word rules leave alone: the lock, which lists what others named. */
const EXEMPT = /^deno\.lock$/;

/** Letters or digits, so that a word with a number behind it is still that word. */
const WORD = /\p{Letter}+|\p{Number}+/gu;

/** A folder that stands inside a path. */
const FOLDER = /\/[\p{Letter}\p{Number}._-]+(?=\/)/gu;

/** What may stand between two words of one phrase: one mark, or a blank, or the end of a line of text or of a comment. */
const JOINT = /^(?:[\p{Dash_Punctuation}_./]|\s+(?:(?:\*|\/\/|#|>)\s+)?)$/u;

/** Digests that were asked for before: a tree says the same words again and again. */
const known = new Map<string, string>();

function digest(phrase: string): string {
  const before = known.get(phrase);
  if (before !== undefined) return before;
  const value = createHash("sha256").update(phrase).digest("hex").slice(0, 16);
  known.set(phrase, value);
  return value;
}

/**
 * The digests by which phrases are found: that of each phrase, and those of its beginnings, which end in a blank. So
 * only words that begin a phrase are ever looked at together with the words after them.
 *
 * A phrase is words in small letters, with one blank between them whatever stands there in a text: a host is the words
 * between its dots. Or it is a folder between two slashes. What this gives for a new one goes into a row of `DIGESTS`.
 */
export function digestsOf(phrases: readonly string[]): string[] {
  const beginnings = phrases.flatMap((phrase) =>
    [...phrase.matchAll(/ /g)].map(({ index }) => phrase.slice(0, index + 1))
  );
  return [...new Set([...phrases, ...beginnings].map(digest))].sort();
}

function tableOf(rows: Readonly<Record<string, string>>): DigestTable {
  return new Map(
    Object.entries(rows).flatMap(([reason, digests]) => digests.trim().split(/\s+/).map((value) => [value, reason])),
  );
}

function findPlain(text: string): Finding[] {
  return PLAIN_RULES.flatMap(({ pattern, reason }) =>
    [...text.matchAll(pattern)].map((match) => ({ word: match[0], offset: match.index, reason }))
  );
}

function findFolders(text: string, digests: DigestTable): Finding[] {
  return [...text.matchAll(FOLDER)].flatMap(({ 0: folder, index }) => {
    const word = `${folder}/`;
    const reason = digests.get(digest(word.toLowerCase()));
    return reason === undefined ? [] : [{ word, offset: index, reason }];
  });
}

function findPhrases(text: string, digests: DigestTable): Finding[] {
  const words = [...text.matchAll(WORD)].map(({ 0: word, index }) => ({ word, index, end: index + word.length }));
  return words.flatMap((first, place) => {
    const found: Finding[] = [];
    let phrase = first.word.toLowerCase();
    for (let next = place + 1, end = first.end;; next += 1) {
      const reason = digests.get(digest(phrase));
      if (reason !== undefined) found.push({ word: text.slice(first.index, end), offset: first.index, reason });
      const after = words[next];
      if (after === undefined || !digests.has(digest(`${phrase} `))) return found;
      if (!JOINT.test(text.slice(end, after.index))) return found;
      phrase += ` ${after.word.toLowerCase()}`;
      end = after.end;
    }
  });
}

/** Every place in a text that a word rule refuses. */
export function findWords(text: string, digests: DigestTable = DIGESTS): FoundWord[] {
  return [...findPlain(text), ...findPhrases(text, digests), ...findFolders(text, digests)]
    .map(({ word, offset, reason }) => ({ word, line: lineAt(text, offset), reason }));
}

/** The tree holds none of those words. */
export function checkWords(files: readonly SourceFile[]): Violation[] {
  return files.filter((file) => !EXEMPT.test(file.path)).flatMap((file) =>
    findWords(file.text).map(({ word, line, reason }) => ({
      rule: "words",
      path: file.path,
      line,
      message: `Cannot keep "${word}": ${reason}`,
    }))
  );
}
