import type { Random } from '../../src/ports.ts'

/** Bounds of the pauses between tries, in milliseconds. */
export interface BackOff {
  readonly first: number
  readonly most: number
}

/**
 * The pause after a number of failed tries, from 1. It doubles up to the longest, less a random part of up to half of it.
 */
export function pauseAfter(tries: number, { first, most }: BackOff, random: Random): number {
  return Math.min(first * 2 ** Math.min(tries - 1, 16), most) * (1 - random() / 2)
}
