/** TLS to a server: PEM texts of the authorities, of the client's certificate and of its key. */
export interface TlsOptions {
  /** Omitted for the authorities that Node trusts. */
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  /** Name that the server's certificate must have; omitted for the host or address of the connection. */
  readonly servername?: string
}
