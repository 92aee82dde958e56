import { useEffect, useRef } from 'preact/hooks'
import { connect, type Channel, type ItemOf, type Notice, type StreamError } from '../../client/client.ts'
import { SERVICE_URL } from './api.ts'
import { PatientSocket } from './patient-socket.ts'
import { apiKey, keyRefusal } from './session.ts'
import { Store, useStore } from './store.ts'

/** State of the newest connection to the stream: its last notice, and whether it is connected. Null without a subscription. */
export const liveState = new Store<{ readonly isLive: boolean; readonly text: string } | null>(null)
let subscriptions = 0

function onNotice({ kind, message }: Notice): void {
  if (kind === 'warning' || kind === 'slow_consumer' || kind === 'refetching') return
  liveState.set({ isLive: kind !== 'disconnected', text: message })
}

/**
 * Follows channels of the stream with the key of this tab. Items are handed over together once a frame, because a busy
 * token has a thousand a second. `since` null begins live; undefined does not subscribe yet.
 */
export function useStream<const C extends Channel>(
  channels: readonly C[],
  since: number | null | undefined,
  onItems: (items: readonly ItemOf<C>[]) => void
): void {
  const key = useStore(apiKey)
  const names = channels.join(' ')
  const handed = useRef(onItems)
  handed.current = onItems
  useEffect(() => {
    if (key === '' || since === undefined || channels.length === 0) return undefined
    const client = connect({ url: SERVICE_URL.href, key, onNotice, WebSocket: PatientSocket })
    const subscription = client.subscribe(channels, { since })
    subscriptions++
    let waiting: ItemOf<C>[] = []
    let frame = 0
    let timer = 0
    const hand = (): void => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
      frame = timer = 0
      const items = waiting
      waiting = []
      handed.current(items)
    }
    const read = async (): Promise<void> => {
      for await (const item of subscription) {
        waiting.push(item)
        if (frame !== 0) continue
        frame = requestAnimationFrame(hand)
        // A hidden page has no frames.
        timer = window.setTimeout(hand, 1_000)
      }
    }
    void read().catch((error: unknown) => {
      const { code, message } = error as StreamError
      liveState.set({ isLive: false, text: message })
      if (code === 'stream_key_refused' || code === 'closed_4401') keyRefusal.set(message)
    })
    return () => {
      client.close()
      if (--subscriptions === 0) liveState.set(null)
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [key, names, since === undefined])
}
