import { z } from 'zod'
import type { FeeSummary } from '../transactions/ports.ts'
import * as schema from './schema.ts'

const fee = (rank: string) =>
  z.number().min(0).describe(`${rank}, in micro-lamports per compute unit; 0 without a transaction`)

export const PRIORITY_FEES = z
  .object({
    samples: schema.count(
      'Transactions that the fees are of; those that paid no priority fee count, votes do not'
    ),
    slot_range: z
      .array(z.int().min(0))
      .length(2)
      .nullable()
      .describe('First and last slot of the blocks that were looked at; null before the first block'),
    micro_lamports_per_cu: z
      .object({
        p25: fee('25th percentile'),
        p50: fee('Median'),
        p75: fee('75th percentile'),
        p90: fee('90th percentile'),
        max: fee('Largest')
      })
      .describe('Percentiles by nearest rank')
  })
  .meta({ id: 'PriorityFees', description: 'Priority fees of recent transactions' })

/** Renders priority fees. */
export function priorityFeesBody({ samples, slots, ...fees }: FeeSummary): z.input<typeof PRIORITY_FEES> {
  const { p25, p50, p75, p90, max } = fees
  return {
    samples,
    slot_range: slots === null ? null : [...slots],
    micro_lamports_per_cu: { p25, p50, p75, p90, max }
  }
}
