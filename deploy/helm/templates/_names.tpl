{{- define "privet.name" -}}
{{- printf "%s-privet" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "privet.selector" -}}
app.kubernetes.io/name: privet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "privet.labels" -}}
{{ include "privet.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "privet.env" -}}
- { name: PRIVET_CURATOR, value: /var/lib/privet/curator }
{{- if .Values.ledger.secret }}
- { name: PGPASSWORD_FILE, value: {{ printf "/run/secrets/ledger/%s" .Values.ledger.key | quote }} }
{{- end }}
{{- if .Values.metrics.secret }}
- { name: PRIVET_METRICS_TOKEN_FILE, value: {{ printf "/run/secrets/metrics/%s" .Values.metrics.key | quote }} }
{{- end }}
{{- if .Values.ingress.from }}
- { name: FORWARDED_ALLOW_IPS, value: {{ .Values.ingress.from | quote }} }
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "privet.mounts" -}}
- { name: home, mountPath: /var/lib/privet }
- { name: temporary, mountPath: /tmp }
- { name: settings, mountPath: /etc/privet, readOnly: true }
{{- if .Values.ledger.secret }}
- { name: ledger, mountPath: /run/secrets/ledger, readOnly: true }
{{- end }}
{{- if .Values.metrics.secret }}
- { name: metrics, mountPath: /run/secrets/metrics, readOnly: true }
{{- end }}
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "privet.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
