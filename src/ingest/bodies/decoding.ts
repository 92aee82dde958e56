import { z } from 'zod'
import { count } from '../../kernel/http/schema.ts'

const counts = (meaning: string) => z.record(z.string(), z.int().min(0)).describe(meaning)

const VENUE_REPORT = z
  .object({
    events: counts('Events decoded, by kind'),
    missing: counts(
      'Candidates that gave no event, by reason. `inner-instructions-absent` and `vault-moved` make their slots `partial` in the coverage'
    ),
    missing_total: count('Their sum'),
    disagreements: count('Facts for which two readings disagree'),
    drift: counts('Bodies longer than the newest known layout, by layout'),
    unknown_instructions: counts('Instructions without a known layout, by discriminator'),
    unknown_events: counts('Stated events without a known layout, by discriminator'),
    vault_transfers: z
      .object({
        donated: count('Transactions that sent tokens to a pool: anybody can'),
        seized: count('Transactions in which an authority of the mint took tokens of a pool')
      })
      .describe('Tokens of pools that moved past their programs without a trade. No trade is missing')
  })
  .meta({ id: 'VenueReport', description: 'Decoding of a venue since the service started' })

export const DECODING = z.object({
  venues: z.record(z.string(), VENUE_REPORT).describe('Every venue, by name')
})
