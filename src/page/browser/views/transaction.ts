import { h, type JSX } from 'preact'

export function TransactionView({ argument }: { readonly argument: string }): JSX.Element {
  return h('p', null, argument)
}
