import type { ServiceProcess } from './service-process.ts'

interface TreeUnit {
  readonly name: string
  readonly source?: { readonly state: string }
  readonly children: readonly TreeUnit[]
}

/** Returns the state of a service's source, as the public health shows it. */
export const sourceOf = async (service: ServiceProcess): Promise<unknown> =>
  (await service.get('/v1/health', null)).body['source']

/** Returns the state of a service's source, as the live tree shows it to an operator. */
export async function shownBy(service: ServiceProcess): Promise<TreeUnit['source']> {
  const { body } = await service.get('/v1/admin/tree')
  const chain = (body as unknown as TreeUnit).children.flatMap(({ children }) => children)
  return chain.find(({ name }) => name === 'source')?.source
}
