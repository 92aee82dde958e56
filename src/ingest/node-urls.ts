import { LOCALNET } from './capabilities.ts'
import type { Kernel } from '../kernel/compose/product.ts'

/** Tells whether this process has the localnet, whose node is then the only one that it reads from and sends to. */
export const hasLocalnet = ({ config: { role, source }, source: replaced }: Kernel): boolean =>
  role.includes('ingest') && source === 'localnet' && replaced === undefined

/** Tells whether this process has a node: the localnet's or the operator's. */
export const hasNode = (kernel: Kernel): boolean => hasLocalnet(kernel) || kernel.config.rpcUrl.length > 0

/** Returns the URLs of the nodes to query; empty before the localnet listens. */
export function nodeUrls(kernel: Kernel): readonly string[] {
  if (!hasLocalnet(kernel)) return kernel.config.rpcUrl
  const { url } = kernel.get(LOCALNET)
  return url === null ? [] : [url]
}

/** Returns the URLs of the nodes to query for history: the archive nodes if any are configured, else the nodes. */
export function historyUrls(kernel: Kernel): readonly string[] {
  const { archiveRpcUrl } = kernel.config
  return hasLocalnet(kernel) || archiveRpcUrl.length === 0 ? nodeUrls(kernel) : archiveRpcUrl
}

/** Returns the nodes' WebSocket URLs: the configured ones, else each node's at the port that clients derive, as web3.js does. */
export function pubsubUrls(kernel: Kernel): readonly string[] {
  const { rpcWsUrl } = kernel.config
  if (!hasLocalnet(kernel) && rpcWsUrl.length > 0) return rpcWsUrl
  return nodeUrls(kernel).map((text) => {
    const url = new URL(text)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    if (url.port !== '') url.port = String(Number(url.port) + 1)
    return url.href
  })
}
