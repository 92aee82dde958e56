import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { PRIORITY_FEES } from '../bodies/priority-fees.ts'
import type { FeeSummary } from '../ports.ts'
import { FEE_SLOTS } from '../priority-fees.ts'
import { addressList } from '../../kernel/http/address-list.ts'
import type { TransactionNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'

/** Maximum accounts: as many as `getRecentPrioritizationFees` takes. */
const ACCOUNTS_MAX = 128

export const priorityFees = endpoint({
  path: '/v1/priority-fees',
  tag: 'Transactions',
  summary: 'Priority fees of recent transactions',
  description: `Percentiles of the fee per compute unit that transactions of the last ${FEE_SLOTS} slots offered, whether they succeeded or failed. With \`accounts\`, only transactions that write to any of these accounts count, each once. Fee markets are per account, so list the accounts that your transaction writes to. Use p75 to p90 if time matters. After a restart the window refills; \`slot_range\` shows the slots that it covers.`,
  scope: 'tx:send',
  query: z.object({
    accounts: addressList(ACCOUNTS_MAX)
      .optional()
      .describe(`Addresses of writable accounts, separated by commas; at most ${ACCOUNTS_MAX}`)
  }),
  answer: PRIORITY_FEES,
  examples: [
    { name: 'all transactions' },
    {
      name: 'those that write to one of two accounts',
      query: {
        accounts: '58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2,CebN5WGQ4jvEPvsVU4EoHEpgzq1VV7AbicfhtW4xC9iM'
      }
    }
  ]
})

/** Fees by account are read from memory; an answer is cached until the next block. */
export const priorityFeeRoutes: FastifyPluginAsync<Pick<TransactionNeeds, 'fees'>> = async (
  app,
  { fees }
) => {
  serveCached(app, priorityFees, async ({ query }) => {
    await fees.upToDate()
    const { version } = fees
    const isCurrent = (): boolean => fees.version === version
    return { body: bodyOf(fees.of(query.accounts ?? [])), dependsOn: [], changesWith: 'block', isCurrent }
  })
}

function bodyOf({ samples, slots, ...fees }: FeeSummary): z.input<typeof PRIORITY_FEES> {
  const { p25, p50, p75, p90, max } = fees
  return {
    samples,
    slot_range: slots === null ? null : [...slots],
    micro_lamports_per_cu: { p25, p50, p75, p90, max }
  }
}
