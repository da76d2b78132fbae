/**
 * Every rule on code and files, by name.
 *
 * @module
 */

import type { SourceFile, Violation } from "./source.ts";
import {
  checkConsole,
  checkDocstrings,
  checkExportedNames,
  checkExportsUsed,
  checkFunctionLength,
} from "./tidy_code.ts";
import {
  checkDeadFiles,
  checkFileNames,
  checkFolderSizes,
  checkKernelTested,
  checkLineLength,
  checkTopLevel,
} from "./tidy_files.ts";
import { checkNativeJson } from "./tidy_json.ts";
import { checkWords } from "./tidy_words.ts";

/** The rules, each with the name under which it is tested on the tree. */
export const TIDY_CHECKS: readonly {
  readonly name: string;
  readonly check: (files: readonly SourceFile[]) => Violation[];
}[] = [
  { name: "the top level holds only what is listed", check: checkTopLevel },
  { name: "lines of code have at most 140 characters", check: checkLineLength },
  { name: "functions have at most 70 lines", check: checkFunctionLength },
  { name: "files are named in snake_case, written out", check: checkFileNames },
  { name: "folders have at most 30 modules", check: checkFolderSizes },
  { name: "exported names are written out", check: checkExportedNames },
  { name: "exports are named by another file", check: checkExportsUsed },
  { name: "exported functions, classes and types have a docstring", check: checkDocstrings },
  { name: "only the command line writes to the console", check: checkConsole },
  { name: "only listed modules parse JSON natively", check: checkNativeJson },
  { name: "every module is reached from main.ts", check: checkDeadFiles },
  { name: "every kernel module is imported by a test", check: checkKernelTested },
  { name: "no word of another place than the project", check: checkWords },
];
