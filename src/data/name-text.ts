/** How a text matches a token, from the closest to the loosest. */
export const NAME_MATCHES = [
  'symbol',
  'name',
  'symbol_prefix',
  'name_prefix',
  'word_prefix',
  'substring'
] as const
export type NameMatch = (typeof NAME_MATCHES)[number]

/** Maximum characters of a symbol or name that are searched: twice the limit of any launchpad; a mint can have more. */
export const SEARCHED_CHARACTERS_MAX = 128

/** Symbol and name of a token. */
export interface SymbolAndName {
  readonly symbol: string
  readonly name: string
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u
const WHOLE_WORD = /^[\p{Ideographic}\p{Extended_Pictographic}]$/u
/** Below this code unit no character counts as a word, so most texts skip the regular expression. */
const FIRST_WHOLE_WORD = 0x2000

/**
 * Returns the form in which texts are compared: compatibility forms unified, lower case, no invisible marks, one
 * space between words, no dollar sign before a symbol.
 */
export function foldedText(text: string): string {
  const folded = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\p{Cf}+/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return folded.replace(/^\$+(?=.)/u, '')
}

/** Returns symbol and name as they are searched. */
export function searchedNames({ symbol, name }: SymbolAndName): SymbolAndName {
  return { symbol: searched(symbol), name: searched(name) }
}

const searched = (text: string): string =>
  foldedText(text.slice(0, SEARCHED_CHARACTERS_MAX)).slice(0, SEARCHED_CHARACTERS_MAX)

/** Returns whether one character is enough to search for: an ideograph or an emoji. */
export function isWholeWord(character: string): boolean {
  return character.codePointAt(0)! >= FIRST_WHOLE_WORD && WHOLE_WORD.test(character)
}

/** Returns the index in NAME_MATCHES of the match between a folded text and folded names; null if they do not match. */
export function matchOf(text: string, { symbol, name }: SymbolAndName): number | null {
  if (!symbol.includes(text) && !name.includes(text)) return null
  if (symbol === text) return 0
  if (name === text) return 1
  if (symbol.startsWith(text)) return 2
  if (name.startsWith(text)) return 3
  return hasWordPrefix(symbol, text) || hasWordPrefix(name, text) ? 4 : 5
}

/** Returns whether `names` contains `text` at the start of a word. */
function hasWordPrefix(names: string, text: string): boolean {
  for (let at = names.indexOf(text); at !== -1; at = names.indexOf(text, at + 1))
    if (at === 0 || !LETTER_OR_DIGIT.test(names[at - 1]!)) return true
  return false
}
