/**
 * Version of the decoder and of the fold of its events. Stored with each range of slots, so that a reader can tell which
 * blocks would give other rows today.
 *
 * Raise it by one in a commit after which an unchanged block gives other rows. Examples are another trader, amount, price
 * or curve fact, a new venue, and an instruction or event that was unknown. A change of speed, names or messages does not
 * raise it.
 *
 * 1: never stored; its blocks have no version.
 * 2: traders of program-owned funds, and curve facts as the program states them.
 */
export const DECODER_VERSION = 2
