/** A localnet in its own process, without a past: the node of `rpc-pubsub.ts`. */
import { openLocalnet } from '../../src/localnet/localnet.ts'
import { systemPorts } from '../../src/ports.ts'

const [directory = '', slotMs = '50'] = process.argv.slice(2)
const net = await openLocalnet({
  directory,
  host: '127.0.0.1',
  port: 0,
  slotMs: Number(slotMs),
  past: 'none',
  clock: systemPorts.clock,
  onFault: (fault) => process.stderr.write(`${String(fault)}\n`)
})
const end = new AbortController()
process.once('SIGTERM', () => end.abort())
process.stdout.write(`listening on ${net.rpcUrl}\n`)
await net.run(end.signal)
await net.close()
