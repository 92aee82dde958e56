import type { Test } from 'tap'
import { openLocalnet, type Localnet } from '../../src/localnet/localnet.ts'
import { systemPorts } from '../../src/ports.ts'

/** Runs a localnet without a past in the process of the test, until the test ends. A blockhash lives for 150 slots. */
export async function startOwnLocalnet(t: Test, directory: string, slotMs: number): Promise<Localnet> {
  const net = await openLocalnet({
    directory,
    host: '127.0.0.1',
    port: 0,
    slotMs,
    past: 'none',
    clock: systemPorts.clock,
    onFault: (fault) => t.fail(String(fault))
  })
  const end = new AbortController()
  const running = net.run(end.signal)
  t.teardown(async () => {
    end.abort()
    await running
    await net.close()
  })
  return net
}
