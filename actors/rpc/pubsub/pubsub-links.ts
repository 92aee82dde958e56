import { nodeAddresses } from '../../../src/node/node-address.ts'
import type { Ports } from '../../../src/ports.ts'
import type { RpcUpstream, RpcUpstreams } from '../../../src/rpc/upstreams.ts'
import { PubsubLink, type PubsubLinkEvents } from './pubsub-link.ts'
import type { SharedSubscription } from './shared-subscription.ts'

/**
 * Maximum subscriptions on one connection, and connections to one node. Nodes of providers allow 1,000 and about 100;
 * together they carry the maximum subscriptions of a process.
 */
export const SUBSCRIPTIONS_PER_LINK_MAX = 500
export const LINKS_PER_NODE_MAX = 100

export interface PubsubLinksDeps extends Ports {
  readonly upstreams: Pick<RpcUpstreams, 'inOrder' | 'newest' | 'isCordoned' | 'onChange' | 'sawSlot'>
  /** WebSocket URLs, in the order of the nodes; read at each use. */
  readonly urls: () => readonly string[]
  readonly logger: { info(about: object, text: string): void; warn(about: object, text: string): void }
  readonly stray: () => void
  readonly lost: () => void
}

/** The connections to all nodes. Subscriptions go to the best node, and move when their node is no longer good. */
export class PubsubLinks {
  readonly #deps: PubsubLinksDeps
  readonly #changed: () => void
  readonly #links = new Map<string, PubsubLink[]>()
  readonly #unsubscribe: () => void

  /** `changed` is called when a subscription that had no place may get one. */
  constructor(deps: PubsubLinksDeps, changed: () => void) {
    this.#deps = deps
    this.#changed = changed
    this.#unsubscribe = deps.upstreams.onChange(() => {
      this.#leaveCordonedNodes()
      this.#leaveBadNodes()
      changed()
    })
  }

  get all(): readonly PubsubLink[] {
    return [...this.#links.values()].flat()
  }

  /** Gives a subscription to a connection. Returns false if no connection can take it now. */
  place(subscription: SharedSubscription): boolean {
    for (const { url } of this.#nodes()) {
      const link = this.#linkTo(url, subscription)
      if (link === null) continue
      subscription.place(link)
      return true
    }
    return false
  }

  /** Tells whether some node could take it. */
  canPlace(subscription: SharedSubscription): boolean {
    return this.#nodes().some(({ url }) => this.#linkTo(url, subscription) !== null)
  }

  close(): void {
    this.#unsubscribe()
    for (const link of this.all) link.close()
  }

  /** The nodes that subscriptions may go to, the best first. */
  #nodes(): { readonly node: RpcUpstream; readonly url: string }[] {
    const urls = this.#deps.urls()
    return this.#deps.upstreams.inOrder('processed', 0).flatMap((node) => {
      const url = urls[node.index]
      const isGood = node.state === 'healthy' || node.state === 'lagging'
      return node.isArchive || !isGood || url === undefined ? [] : [{ node, url }]
    })
  }

  #linkTo(url: string, { refusedBy }: SharedSubscription): PubsubLink | null {
    const links = this.#links.get(url) ?? []
    const [address] = links.length > 0 ? [links[0]!.address] : nodeAddresses([url])
    // A connection that failed speaks for its node.
    if (refusedBy.has(address!.name) || links.some(({ state }) => state === 'waiting')) return null
    const free = links.find(({ size }) => size < SUBSCRIPTIONS_PER_LINK_MAX)
    if (free !== undefined) return free
    if (links.length >= LINKS_PER_NODE_MAX) return null
    const link = new PubsubLink(address!, this.#deps, () => this.#newest(), this.#events)
    this.#links.set(url, [...links, link])
    return link
  }

  #newest(): number | null {
    return this.#deps.upstreams.newest('processed')
  }

  readonly #events: PubsubLinkEvents = {
    changed: () => this.#changed(),
    slot: ({ address }, { slot }) => this.#deps.upstreams.sawSlot(address.name, 'processed', slot),
    failed: ({ address: { name } }, reason) => {
      this.#deps.lost()
      this.#deps.logger.warn({ node: name }, `the subscriptions at ${name} are lost: ${reason}`)
    },
    stray: () => this.#deps.stray()
  }

  /** Ends the connections to nodes that an operator has taken out of use, even if there is no other node. */
  #leaveCordonedNodes(): void {
    for (const [index, url] of this.#deps.urls().entries())
      if (this.#deps.upstreams.isCordoned(index))
        for (const link of this.#links.get(url) ?? [])
          if (link.size > 0) link.fail('the operator has cordoned its node')
  }

  /** Ends the connections to nodes that are not good, if another node is. */
  #leaveBadNodes(): void {
    const nodes = this.#nodes()
    if (!nodes.some(({ node }) => node.state === 'healthy')) return
    const good = new Set(nodes.filter(({ node }) => node.state === 'healthy').map(({ url }) => url))
    for (const [url, links] of this.#links)
      if (!good.has(url))
        for (const link of links) if (link.size > 0) link.fail('its node is no longer healthy')
  }
}
