import { BadUsage } from '../../kernel/cli/command.ts'

/** Requests a second: half of what the free plans of node providers allow (10 in 2025), twice the rate of the chain. */
export const REQUESTS_PER_SECOND = 5
/** Maximum of that number: no node serves blocks faster. Arbitrary. */
const REQUESTS_PER_SECOND_MAX = 1_000

/** An archive command that sends requests to nodes. */
export interface NodeRateOption {
  readonly 'requests-per-second'?: string | undefined
}

/** Returns the requests a second to each node. Throws BadUsage for anything but a whole number within the limits. */
export function requestsPerSecond({ 'requests-per-second': text }: NodeRateOption): number {
  if (text === undefined) return REQUESTS_PER_SECOND
  const rate = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (rate >= 1 && rate <= REQUESTS_PER_SECOND_MAX) return rate
  throw new BadUsage(
    `--requests-per-second is ${text}; it must be a whole number from 1 to ${REQUESTS_PER_SECOND_MAX}`
  )
}
