/** Form and size of an image, as its first bytes state them. */
export interface ImageForm {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  /** In pixels. */
  readonly width: number
  readonly height: number
}

/**
 * Reads the form of an image; null for other bytes. SVG is not among the forms: it can contain scripts. Whatever the host calls
 * the file, a browser gets the type that the bytes have.
 */
export function imageFormOf(bytes: Buffer): ImageForm | null {
  const starts = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text
  if (starts('\x89PNG\r\n\x1a\n') && starts('IHDR', 12) && bytes.length >= 24)
    return { mediaType: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  if ((starts('GIF87a') || starts('GIF89a')) && bytes.length >= 10)
    return { mediaType: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  if (starts('RIFF') && starts('WEBP', 8)) return webpForm(bytes)
  if (starts('\xff\xd8\xff')) return jpegForm(bytes)
  return null
}

/** Reads the size from the first chunk, which is of one of three kinds. */
function webpForm(bytes: Buffer): ImageForm | null {
  if (bytes.length < 30) return null
  const size = (width: number, height: number): ImageForm => ({ mediaType: 'image/webp', width, height })
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return size(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return size((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
    }
    case 'VP8 ':
      return size(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
    default:
      return null
  }
}

/** Reads the size from the frame header, which follows segments of stated lengths. */
function jpegForm(bytes: Buffer): ImageForm | null {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame)
      return {
        mediaType: 'image/jpeg',
        height: bytes.readUInt16BE(at + 5),
        width: bytes.readUInt16BE(at + 7)
      }
    // A fill byte stands before a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}
