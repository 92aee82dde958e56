import { z } from 'zod'
import * as schema from '../../kernel/http/schema.ts'

const fee = (rank: string) =>
  z.number().min(0).describe(`${rank}, in micro-lamports per compute unit; 0 if no transaction counts`)

export const PRIORITY_FEES = z
  .object({
    samples: schema.count(
      'Number of transactions in the percentiles; those without a priority fee count, votes do not'
    ),
    slot_range: z
      .array(z.int().min(0))
      .length(2)
      .nullable()
      .describe('First and last slot of the blocks in the window; null before the first block'),
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
