import { createHash } from 'node:crypto'

/** Name of a node for operators, by which it is recognized after a restart. */
export interface NodeId {
  /** Host and port; with the beginning of the digest if two nodes share them. Secret sections of the URL are left out. */
  readonly id: string
  /** SHA-256 of the URL, in hexadecimal. */
  readonly digest: string
}

/** Returns the ids of node URLs, in order; a URL that is listed twice counts once, as in `nodeAddresses`. */
export function nodeIds(urls: readonly string[]): NodeId[] {
  const distinct = [...new Set(urls)].map((text) => ({
    host: new URL(text).host,
    digest: createHash('sha256').update(text).digest('hex')
  }))
  const nodesOf = Map.groupBy(distinct, ({ host }) => host)
  return distinct.map(({ host, digest }) => ({
    id: nodesOf.get(host)!.length === 1 ? host : `${host}-${digest.slice(0, 8)}`,
    digest
  }))
}
