import type { ServiceParts } from './product.ts'

/** Tells whether this process has the localnet, whose node is then the only one that it asks and sends to. */
export const hasLocalnet = ({ config: { role, source }, source: replaced }: ServiceParts): boolean =>
  role.includes('ingest') && source === 'localnet' && replaced === undefined

/** Tells whether this process has a node to ask: the localnet's or the operator's. */
export const hasNode = (service: ServiceParts): boolean =>
  hasLocalnet(service) || service.config.rpcUrl.length > 0

/** Returns the URLs of the nodes to ask; none before the localnet listens. */
export function nodeUrls(service: ServiceParts): readonly string[] {
  if (!hasLocalnet(service)) return service.config.rpcUrl
  const url = service.localnetUrl()
  return url === null ? [] : [url]
}
