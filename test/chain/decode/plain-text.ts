/** A value of the decoder's as text, with keys and amounts spelt out, for comparing whole. */
export function plainText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (each instanceof Uint8Array) return each.toHex()
    return typeof each === 'bigint' ? `${each}n` : each
  })
}
