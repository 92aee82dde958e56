/** The first bytes of images of a size, as their formats begin. */
export const IMAGES: Readonly<Record<string, (width: number, height: number) => Buffer>> = {
  'image/png': (width, height) => {
    const bytes = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR00000000\x08\x06\0\0\0', 'latin1')
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    return bytes
  },
  'image/gif': (width, height) => {
    const bytes = Buffer.from('GIF89a0000\0\0\0', 'latin1')
    bytes.writeUInt16LE(width, 6)
    bytes.writeUInt16LE(height, 8)
    return bytes
  },
  'image/jpeg': (width, height) => {
    // An application segment and a fill byte stand before the frame.
    const bytes = Buffer.from('\xff\xd8\xff\xe0\0\x06JFIF\xff\xff\xc2\0\x110000\0\0\x03', 'latin1')
    bytes.writeUInt16BE(height, 16)
    bytes.writeUInt16BE(width, 18)
    return bytes
  },
  'image/webp': (width, height) => {
    const bytes = Buffer.concat([Buffer.from('RIFF0000WEBPVP8X'), Buffer.alloc(14)])
    bytes.writeUIntLE(width - 1, 24, 3)
    bytes.writeUIntLE(height - 1, 27, 3)
    return bytes
  }
}

/** A picture of one pixel that a browser decodes. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)
