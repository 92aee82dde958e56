import { VENUES } from '../../stream/blocks.ts'
import { channelNamed } from '../../stream/stream-world.ts'
import { settle } from '../../virtual-time.ts'
import { DeliveryWorld } from './delivery-world.ts'

export const CHANNELS = VENUES.map((venue) => `venue:${venue}`)
export const SPECS = [0, 1, 2, 3, 4, 5, 6, 7]

/** Cursors of all stored events on the channels, in order. */
export const storedCursors = ({ chain }: DeliveryWorld): number[] =>
  CHANNELS.flatMap((name) => chain.eventsOf(channelNamed(name), -1, Infinity))
    .map(({ cursor }) => cursor)
    .sort((a, b) => a - b)

/** A world with a webhook on two channels, whose process runs. */
export async function started(changes: Parameters<DeliveryWorld['create']>[0] = {}): Promise<DeliveryWorld> {
  const world = new DeliveryWorld()
  world.start(await world.create({ channels: CHANNELS, ...changes }))
  await settled()
  return world
}

export async function settled(turns = 12): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settle()
}

/** Moves the clock in steps of some length, each of which may fire one timer. */
export async function pass({ clock }: DeliveryWorld, ms: number, step = 100): Promise<void> {
  for (let elapsed = 0; elapsed < ms; elapsed += step) {
    clock.increment(Math.min(step, ms - elapsed))
    await settled(4)
  }
}
