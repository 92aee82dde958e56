import t from 'tap'
import { pubsubSubscriptions } from '../../actors/program-accounts/pubsub-subscription.ts'
import { systemPorts } from '../../src/ports.ts'
import { openBank } from '../localnet/bank/sending.ts'
import { startNode } from '../localnet/node/node-client.ts'
import { PROGRAM } from './mirrored-world.ts'

t.test('a node that is away and listed twice does not hide the next one', async (t) => {
  const node = await startNode(t, await openBank())
  const away = 'ws://127.0.0.1:1'
  const urls = [away, away, `ws://${node.host}:${node.port}`]
  const subscribe = pubsubSubscriptions(() => urls, systemPorts.clock)
  const listener = { update: () => undefined, processed: () => undefined }
  const subscription = await subscribe(PROGRAM, listener, new AbortController().signal)
  await subscription.roundTrip()
  subscription.close()
})
