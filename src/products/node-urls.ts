import type { ServiceParts } from './product.ts'

/** Returns whether this process has the localnet, whose node is then the only one that it reads from and sends to. */
export const hasLocalnet = ({ config: { role, source }, source: replaced }: ServiceParts): boolean =>
  role.includes('ingest') && source === 'localnet' && replaced === undefined

/** Returns whether this process has a node: the localnet's or the operator's. */
export const hasNode = (service: ServiceParts): boolean =>
  hasLocalnet(service) || service.config.rpcUrl.length > 0

/** Returns the URLs of the nodes to query; empty before the localnet listens. */
export function nodeUrls(service: ServiceParts): readonly string[] {
  if (!hasLocalnet(service)) return service.config.rpcUrl
  const url = service.localnetUrl()
  return url === null ? [] : [url]
}

/**
 * Returns the nodes' WebSocket URLs: the configured ones, else each node's at the port that clients derive, as web3.js does.
 */
export function pubsubUrls(service: ServiceParts): readonly string[] {
  const { rpcWsUrl } = service.config
  if (!hasLocalnet(service) && rpcWsUrl.length > 0) return rpcWsUrl
  return nodeUrls(service).map((text) => {
    const url = new URL(text)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    if (url.port !== '') url.port = String(Number(url.port) + 1)
    return url.href
  })
}
