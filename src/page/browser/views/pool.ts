import { h, type JSX } from 'preact'

export function PoolView({ argument }: { readonly argument: string }): JSX.Element {
  return h('p', null, argument)
}
