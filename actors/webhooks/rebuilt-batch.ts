import type { EventMembers } from '../../src/stream/frames.ts'
import type { StreamHub } from '../../src/stream/hub.ts'
import { repeatedBatch, type SentBatch } from '../../src/webhooks/sent-batch.ts'
import type { BatchIntent } from '../../src/webhooks/webhook.ts'
import type { PastReader, TenantChannels } from './past-reader.ts'

interface RebuildingDeps {
  readonly hub: Pick<StreamHub, 'head' | 'reaches'>
  readonly past: Pick<PastReader, 'read'>
}

/** Reads the events of a stored batch again from the log; null if they have changed. */
export async function rebuiltBatch(
  intent: BatchIntent,
  of: TenantChannels,
  { hub, past }: RebuildingDeps,
  end: AbortSignal
): Promise<SentBatch | null> {
  if (intent.last > hub.head) await hub.reaches(intent.last, end)
  const events: EventMembers[] = []
  for (let to = intent.after; to < intent.last && events.length <= intent.events;) {
    end.throwIfAborted()
    const read = await past.read(of, to, hub.head, end)
    events.push(...read.events.filter(({ cursor }) => cursor <= intent.last))
    to = read.to
  }
  return repeatedBatch(intent, events)
}
