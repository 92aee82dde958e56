/** Reads a whole stream of bytes; null if it exceeds the limit, where reading stops. */
export async function collectedBytes(
  bytes: AsyncIterable<Uint8Array>,
  bytesMax: number
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
