import { WSOL } from '../../src/market/cash.ts'
import { until } from './asking.ts'
import type { ServiceProcess } from './service-process.ts'

/** Returns the wallets with the most of the newest trades. */
export async function tradersOf(
  service: Pick<ServiceProcess, 'get'>,
  count: number
): Promise<readonly string[]> {
  const data = await until(async () => {
    const { body } = await service.get(`/v1/tokens/${WSOL}/trades?limit=200`)
    return body.data !== undefined && body.data.length > 30 && body.data
  }, 'trades')
  const trades = Map.groupBy(data, ({ trader }) => String(trader))
  const busiest = [...trades].sort(([, a], [, b]) => b.length - a.length).slice(0, count)
  return busiest.map(([trader]) => trader)
}
