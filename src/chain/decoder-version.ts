/**
 * Version of the decoder and of the fold of its events. It is stored with each range of slots, so that a reader can tell which
 * blocks would give other rows today.
 *
 * Raise it by one in the commit that makes the same block give other rows: another trader, amount, price or curve fact, an
 * instruction or event that was unknown, a venue that is new. A change of speed, names or messages does not raise it.
 *
 * 1: never stored; its blocks have no version.
 * 2: traders of program-owned funds, and curve facts as the program states them.
 */
export const DECODER_VERSION = 2
