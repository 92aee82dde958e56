import { setTimeout as delay } from 'node:timers/promises'

/**
 * Resolves after a few milliseconds, for a loop that looks for a fact: a loop without a pause takes the processor from the
 * work that brings the fact about.
 */
export const lookAgain = (): Promise<void> => delay(5)
