import t from 'tap'
import { samePubkey } from '../../../src/chain/pubkey.ts'
import { LAUNCHPADS, poolVenue } from '../../../src/localnet/market/venues.ts'
import { LaunchStage, SOL, wireSize } from './launch-stage.ts'

for (const launchpad of LAUNCHPADS) {
  const { venue } = launchpad
  t.test(`${venue}: what a launch, trades and a graduation intend is what the decoder reads`, async (t) => {
    const stage = new LaunchStage(launchpad)
    const { launched, curve, mint } = stage
    t.same(launched.notes, [])
    t.same(
      launched.events.map(({ kind }) => kind),
      ['launch', 'curve']
    )
    const [launch, created] = launched.events
    t.match(launch, {
      venue,
      name: 'A Coin',
      symbol: 'COIN',
      uri: 'https://example.org/coin.json',
      supply: stage.world.ledger.mint(mint).supply,
      decimals: stage.world.ledger.mint(mint).decimals
    })
    t.ok(launch?.kind === 'launch' && samePubkey(launch.baseMint, mint))
    t.ok(launch?.kind === 'launch' && samePubkey(launch.pool, curve.address))
    t.ok(launch?.kind === 'launch' && samePubkey(launch.creator, stage.creator))
    t.match(created, { kind: 'curve', event: 'create', progressPct: 0 })
    t.ok(wireSize(launched) <= 1232, `${wireSize(launched)} bytes`)

    const before = launchpad.price(curve, stage.world)
    stage.trades(t, true, 3n * SOL)
    stage.trades(t, true, 1_234_567n)
    t.ok(launchpad.price(curve, stage.world) > before)
    const owned = stage.tokens()
    stage.trades(t, false, owned / 3n)
    stage.trades(t, false, 100_000_000n)
    t.equal(launchpad.isComplete(curve), false)
    t.equal(stage.swap(false, 0n), null, 'nothing for nothing')

    const last = stage.trades(t, true, 500n * SOL)
    t.equal(launchpad.isComplete(curve), true)
    const ended = last.events.filter(({ kind }) => kind === 'curve')
    if (venue !== 'moonshot') t.match(ended, [{ event: 'complete', progressPct: 100, venue }])
    t.equal(stage.swap(true, SOL), null, 'a complete curve sells nothing')

    const { destination, decoded } = stage.graduate()
    t.same(decoded.notes, [])
    const migrated = decoded.events.find((event) => event.kind === 'curve')
    t.match(migrated, { event: 'migrate', progressPct: 100, venue })
    if (migrated?.kind !== 'curve') return
    t.ok(samePubkey(migrated.curve, curve.address))
    if (venue !== 'moonshot') t.ok(samePubkey(migrated.destination!, destination.pool.address))
    const opened = decoded.events.find((event) => event.kind === 'pool')
    if (opened?.kind === 'pool') t.ok(samePubkey(opened.pool, destination.pool.address))
    t.ok(wireSize(decoded) <= 1232 || decoded.read.version === 0, `${wireSize(decoded)} bytes`)
    stage.tradesAfter(t, poolVenue(destination.venue)!, destination.pool)
  })

  t.test(`${venue}: many trades of all sizes are read as they happened`, async (t) => {
    const stage = new LaunchStage(launchpad, `many ${venue}`)
    let done = 0
    for (let i = 0; i < 60; i++) {
      const random = stage.world.random.next()
      const isBuy = i < 3 || stage.world.random.next() < 0.6
      const amount = isBuy
        ? BigInt(Math.floor(10 ** (3 + random * 7)))
        : BigInt(Math.floor(Number(stage.tokens()) * random * random))
      if (stage.compares(t, isBuy, amount)) done++
    }
    t.ok(done > 40, `${done} trades`)
  })
}
