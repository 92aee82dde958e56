import type { Test } from 'tap'
import type { SharedReading, SharedReadings } from '../../storage/port/readings.ts'
import { until } from '../until.ts'

const reading = (key: string, slot: number, text = 'x'): SharedReading => ({
  key,
  slot,
  readAtMs: Date.now(),
  text
})

/** Checks that readings are shared by two processes as the port says. */
export async function checkSharedReadings(t: Test, one: SharedReadings, two: SharedReadings): Promise<void> {
  const ask = (key: string, freshMs = 60_000) => [{ key, freshMs }]
  const stateAt = async (at: SharedReadings, key: string, freshMs?: number) =>
    (await at.claim(ask(key, freshMs)))[0]!

  t.match(await stateAt(one, 'mint:a'), { state: 'claimed', stored: null })
  t.match(await stateAt(two, 'mint:a'), { state: 'elsewhere', stored: null }, 'one process reads')
  t.strictSame(await one.put([reading('mint:a', 10, 'of slot 10 ü')]), [null])
  t.match(await stateAt(two, 'mint:a'), { state: 'stored', stored: { slot: 10, text: 'of slot 10 ü' } })

  const stale = await until(async () => {
    const claim = await stateAt(two, 'mint:a', 0)
    return claim.state === 'claimed' && claim
  })
  t.match(stale, { stored: { slot: 10 } }, 'what is not fresh is read again')
  t.match(
    await two.put([reading('mint:a', 9, 'of slot 9')]),
    [{ slot: 10, text: 'of slot 10 ü' }],
    'an older slot replaces nothing'
  )
  t.match(await one.read(['mint:a', 'mint:none']), [{ slot: 10 }, null])
  await two.put([reading('mint:a', 11, 'of slot 11'), reading('mint:b', 3)])
  t.match(await one.read(['mint:b', 'mint:a']), [{ slot: 3 }, { slot: 11, text: 'of slot 11' }])

  await stateAt(one, 'mint:c')
  await one.release(['mint:c'])
  t.match(await stateAt(two, 'mint:c'), { state: 'claimed' }, 'a released claim is free')
  const startedMs = Date.now()
  await until(async () => (await stateAt(one, 'mint:c')).state === 'claimed')
  t.comment(`the claim of a silent process ended after ${Date.now() - startedMs} ms`)

  for (let at = 0; at < 10; at++) {
    const both = await Promise.all([one, two].map((each) => each.claim(ask(`mint:d${at}`))))
    t.equal(
      both.filter(([claim]) => claim!.state === 'claimed').length,
      1,
      'of two claims at once one is granted'
    )
  }
}
