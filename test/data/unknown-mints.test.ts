import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { block, buy, key, NOON } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

/** Returns the heap in MiB after a garbage collection. */
function heapMiB(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed / 2 ** 20
}

t.test('10,000 mints that nobody knows leave next to nothing in memory', async (t) => {
  const app = await marketApp(t, undefined, { hotBytesMax: 2 ** 20 })
  await app.commit(block(1, NOON, [buy(10n ** 9n, 10n ** 9n)]))
  const ask = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n++) {
      const [end, status] = n % 2 === 0 ? (['trades', 200] as const) : (['price', 404] as const)
      const answer = await app.app.inject({
        url: `/v1/tokens/${pubkeyToBase58(key(1_000_000 + n))}/${end}`,
        headers: { 'x-api-key': app.key }
      })
      if (answer.statusCode !== status) throw new Error(answer.body)
      // Yields, as a socket would: references held by a turn of the event loop are released at its end.
      await yieldToEventLoop()
    }
    app.forgetLogged()
  }
  // The response cache has its own limit, and so does the store's memory.
  const held = () => heapMiB() - app.app.responseCache.bytes / 2 ** 20
  await ask(0, 500)
  const before = held()
  await ask(500, 10_500)
  const grown = held() - before
  t.ok(grown < 8, `${grown.toFixed(1)} MiB`)
  const { text } = await app.get('/metrics')
  t.ok(text.length < 40_000, 'no metric has a label for each')
})
