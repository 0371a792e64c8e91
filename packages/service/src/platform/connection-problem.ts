import { TlsFilesError } from './tls-files.js';

/** The meaning of codes of the operating system for somebody who has configured a server. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  ECONNREFUSED: 'the server refuses connections',
  ECONNRESET: 'the server has closed the connection',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network of the host cannot be reached',
  ENOTFOUND: 'the host is not known',
  ETIMEDOUT: 'the server does not respond',
};

const UNTRUSTED =
  'no trusted authority has signed the certificate of the server: name the file of its authority in sslrootcert';

/** The meaning of codes of Node.js and OpenSSL about certificates. */
const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate of the server or of its authority has expired',
  CERT_NOT_YET_VALID: 'the certificate of the server or of its authority is not valid yet',
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another host name',
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};
/** The same for alerts of a server, by the end of their codes or a part of their message. */
const TLS_ALERTS: readonly (readonly [code: RegExp, meaning: string])[] = [
  [
    /ALERT_CERTIFICATE_REQUIRED/,
    'the server wants a client certificate: name its file in sslcert, and that of its key in sslkey',
  ],
  [
    /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_|UNSUPPORTED_CERTIFICATE)/,
    'the server refuses the client certificate',
  ],
  [/ALERT_HANDSHAKE_FAILURE/, 'the server refuses the TLS connection'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/, 'the server speaks no TLS on this port'],
];

/** Returns why TLS has failed, as the end of a sentence for the operator; undefined after any other error. */
export function tlsProblem(error: unknown): string | undefined {
  const { code, message = '' } = error as { code?: unknown; message?: string };
  if (error instanceof TlsFilesError) return message;
  if (typeof code !== 'string' || !/^(ERR_SSL_|EPROTO$)/.test(code))
    return CERTIFICATE_PROBLEMS[String(code)];
  // A failed write has no code of OpenSSL, but its words.
  const words = code === 'EPROTO' ? message.toUpperCase().replaceAll(' ', '_') : code;
  return TLS_ALERTS.find(([pattern]) => pattern.test(words))?.[1];
}

/**
 * Returns why a connection to a configured server has failed, as the end of a sentence for the operator.
 *
 * @param meanings words for other codes; without any, the text is the message of the error
 */
export function connectionProblem(error: unknown, meanings: Readonly<Record<string, string>> = {}): string {
  const { code = '', type = '', message } = error as Error & { code?: string; type?: string };
  const text = meanings[type] ?? PROBLEMS[code] ?? tlsProblem(error) ?? message.split('\n')[0] ?? '';
  return text.replace(/\.$/, '');
}
