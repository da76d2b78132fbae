/**
 * Pictures of the documentation: their sizes, so that a page keeps their places while it loads them.
 *
 * @module
 */

/** The size of a picture, in CSS pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

const PNG_SIGNATURE = "\x89PNG\r\n\x1a\n";

/**
 * The size of a PNG or SVG picture.
 *
 * @throws {Error} If the file is none, or names no size
 */
export function pictureSize(path: string, bytes: Uint8Array): PictureSize {
  const size = path.endsWith(".png") ? pngSize(bytes) : svgSize(new TextDecoder().decode(bytes));
  if (size === null) throw new Error(`Cannot find the size of ${path}: expected a PNG, or an SVG with a viewBox`);
  return size;
}

function pngSize(bytes: Uint8Array): PictureSize | null {
  if (bytes.length < 24 || String.fromCharCode(...bytes.subarray(0, 8)) !== PNG_SIGNATURE) return null;
  const header = new DataView(bytes.buffer, bytes.byteOffset);
  return { width: header.getUint32(16), height: header.getUint32(20) };
}

function svgSize(text: string): PictureSize | null {
  const [, width, height] = /^<svg [^>]*viewBox="[-\d.]+ [-\d.]+ (\d+) (\d+)"/.exec(text) ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}
