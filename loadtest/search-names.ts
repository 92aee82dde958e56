const SYLLABLES = [
  'ba',
  'bo',
  'cat',
  'dog',
  'el',
  'fi',
  'go',
  'inu',
  'ka',
  'lon',
  'mo',
  'pe',
  'ru',
  'shi',
  'ta',
  'wif'
]
const WORDS = ['coin', 'the', 'baby', 'official', 'ai', 'meme', 'on solana', 'pump']

/**
 * Returns the names of the n-th token: a symbol of two or three syllables, and a name made of the symbol and one or two
 * words.
 */
export function namesOf(n: number): { readonly symbol: string; readonly name: string } {
  const mixed = Math.imul(n + 1, 2_654_435_761) >>> 0
  const part = (at: number, of: readonly string[]): string => of[(mixed >>> (at * 4)) % of.length]!
  const word = part(0, SYLLABLES) + part(1, SYLLABLES) + (mixed % 3 === 0 ? part(2, SYLLABLES) : '')
  const name = `${part(3, WORDS)} ${word} ${part(4, WORDS)} ${n % 1_000}`
  return { symbol: word.toUpperCase(), name }
}

/** Texts from the broadest, which a quarter of the tokens contain, to those of a few. */
export const TEXTS = ['in', 'co', 'coin', 'dog', 'dogwif', 'baby cat', 'official shi', 'pump 77', 'zzz']
