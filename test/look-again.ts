import { setTimeout as delay } from 'node:timers/promises'

/**
 * Resolves after a few milliseconds, for a polling loop. A loop without a pause takes CPU time from the work that it waits
 * for.
 */
export const lookAgain = (): Promise<void> => delay(5)
