import type { Test } from 'tap'
import { openLocalnet, type Localnet, type LocalnetOptions } from '../../src/localnet/localnet.ts'
import { systemPorts } from '../../src/ports.ts'

/** A localnet without a past in the process of the test. Its node answers until the test ends. */
export interface OwnLocalnet {
  readonly net: Localnet
  /** Produces slots until `halt`, or until the test ends. */
  readonly grow: () => void
  readonly halt: () => Promise<void>
}

/** Runs a localnet without a past in the process of the test, until the test ends. A blockhash lives for 150 slots. */
export async function startOwnLocalnet(t: Test, directory: string, slotMs: number): Promise<Localnet> {
  const { net, grow } = await openOwnLocalnet(t, directory, slotMs)
  grow()
  return net
}

/** Opens a localnet without a past whose chain stands still until the test lets it grow. */
export async function openOwnLocalnet(
  t: Test,
  directory: string,
  slotMs: number,
  market: NonNullable<LocalnetOptions['market']> = 'usual'
): Promise<OwnLocalnet> {
  const net = await openLocalnet({
    directory,
    host: '127.0.0.1',
    port: 0,
    slotMs,
    past: 'none',
    market,
    clock: systemPorts.clock,
    onFault: (fault) => t.fail(String(fault))
  })
  let end = new AbortController()
  let running = Promise.resolve()
  const halt = async (): Promise<void> => {
    end.abort()
    await running
  }
  t.teardown(async () => {
    await halt()
    await net.close()
  })
  return {
    net,
    halt,
    grow() {
      end = new AbortController()
      running = net.run(end.signal)
    }
  }
}
