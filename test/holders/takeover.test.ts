import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { until } from '../service/asking.ts'
import { HolderWorld } from './holder-world.ts'

t.test(
  'a process that writes a list after another one has taken over changes nothing of its lists',
  async (t) => {
    const world = await HolderWorld.open(t, 13)
    await world.slots(3)
    const mints = [NATIVE_MINT, world.traffic.classic.mint.toBytes()]
    const writing = Promise.withResolvers<void>()
    world.dying.hold = writing.promise
    for (const mint of mints) await world.ask(mint)
    await until(async () => {
      await world.slots(1)
      return world.dying.held === mints.length
    }, 'both lists are about to be written')
    const paused = world.takeOver()
    // Balances change, so that the rows of the paused process are of another time.
    await world.slots(20)
    const equal = async (message: string): Promise<void> => {
      await world.settled(message)
      const slot = world.bank.slot('processed')
      for (const mint of mints)
        t.strictSame(await world.stored(mint, slot), world.chain(mint), `${message}: ${pubkeyToBase58(mint)}`)
    }
    await equal('after the takeover')
    writing.resolve()
    await until(
      async () => paused.lists.every((list) => list.isLive),
      'the paused process has written its lists'
    )
    await equal('after the writes of the process before')
    await world.slots(5)
    await equal('some slots later')
    t.strictSame(world.faults, [])
  }
)
